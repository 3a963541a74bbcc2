"""Layers that the summarizers share; padding never changes their values at real tokens."""

import torch
from torch import Tensor, nn

from sumcurve.numerics.precision import IMPOSSIBLE, in_single


def selu_net(inputs: int, width: int, dropout: float) -> nn.Sequential:
    """Two linear layers, each with SELU, as Lin et al. (2018) put before and behind their attention."""
    return nn.Sequential(nn.Linear(inputs, width), nn.SELU(), nn.Dropout(dropout), nn.Linear(width, width), nn.SELU())


class ConvolutionalGate(nn.Module):
    """Global encoding (Lin et al. 2018, section 3.2): how much of each encoder state to let through.

    Three branches of convolutions see 1, 3 and 5 words, a self-attention all. Where the released code has batch
    normalisation this has layer normalisation, and padding is masked before every convolution and attention: a score
    must not depend on the batch it is computed in.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.ModuleList(nn.Conv1d(width, width, size, padding=size // 2) for size in sizes)
            for sizes in ((1,), (1, 3), (1, 3, 3))
        )
        self.norms = nn.ModuleList(nn.ModuleList(nn.LayerNorm(width) for _ in range(depth)) for depth in (1, 2, 3))
        self.join = nn.Linear(3 * width, width)
        self.query = selu_net(width, width, 0.0)
        self.combine = selu_net(2 * width, width, 0.0)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """[B, S, W], mask [B, S] -> gates [B, S, W] in 0..1."""
        real = mask.unsqueeze(2).to(states.dtype)
        branches = []
        for convolutions, norms in zip(self.convolutions, self.norms, strict=True):
            x = states
            for convolution, norm in zip(convolutions, norms, strict=True):  # type: ignore[call-overload]
                x = norm(convolution((x * real).transpose(1, 2)).relu().transpose(1, 2))
            branches.append(x)
        x = self.join(torch.cat(branches, 2))
        key = self.query(x)
        scores = in_single(key @ key.transpose(1, 2)) * key.shape[2] ** -0.5  # [B, S, S]
        context = masked(scores, mask).softmax(2).to(key.dtype) @ key
        return (self.combine(torch.cat((key, context), 2)) + x).sigmoid()


def lstm_cell(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Next h and c from the summed gates [..., 4H] in PyTorch's order i, f, g, o."""
    i, f, g, o = gates.chunk(4, -1)
    c = torch.addcmul(f.sigmoid() * c, i.sigmoid(), g.tanh())
    return o.sigmoid() * c.tanh(), c


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Attention scores [B, Q, S], in single precision, with padding (mask [B, S] False) set to IMPOSSIBLE."""
    return scores.masked_fill(~mask.unsqueeze(1), IMPOSSIBLE)
