"""The capability `corpora_public`: corpora that are published in a form of their own."""

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.corpora_public import acl_anthology, aeslc, debian, dialogsum
from sumcurve.capabilities.corpora_public.settings import RawKeys


class CorporaPublic(Capability):
    raw_settings = RawKeys
    sources = {
        "acl_anthology": acl_anthology.SOURCE,
        "aeslc": aeslc.SOURCE,
        "debian": debian.SOURCE,
        "dialogsum": dialogsum.SOURCE,
    }


CAPABILITY = CorporaPublic()
