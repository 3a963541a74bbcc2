"""The version of sumcurve, which scores and certificates name."""

VERSION = "0.2.0"
