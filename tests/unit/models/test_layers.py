import torch

from sumcurve.models.layers import lstm_cell


def test_lstm_cell_is_pytorchs():
    torch.manual_seed(3)
    cell = torch.nn.LSTMCell(5, 4)
    inputs, h, c = torch.randn(3, 5), torch.randn(3, 4), torch.randn(3, 4)
    gates = inputs @ cell.weight_ih.t() + cell.bias_ih + h @ cell.weight_hh.t() + cell.bias_hh
    for own, other in zip(lstm_cell(gates, c), cell(inputs, (h, c)), strict=True):
        torch.testing.assert_close(own, other)
