"""Errors a user can cause; the command line prints their message without a traceback."""


class NashmonError(Exception):
    """Base of all errors that name a thing the user can mend."""


class UnknownFormatError(NashmonError):
    """A format id the pinned Showdown does not have."""


class TeamError(NashmonError):
    """A team that cannot be read or is not legal; the message gives the reasons."""


class SimulatorError(NashmonError):
    """An engine failed; the message names the battle it was in."""


class SetupError(NashmonError):
    """Something that must be installed is missing; the message says how to get it."""


class UnsupportedError(NashmonError):
    """A combination (format, engine, observation …) that is not offered."""
