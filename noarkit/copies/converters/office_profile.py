"""LibreOffice's settings for strangers' documents: no macro, no link, no proxy that answers, no Java, no recovery.

A profile belongs to one process at a time, so each batch has its own, copied from a template that was started once.
"""

from __future__ import annotations

from pathlib import Path

from noarkit.copies.converters.fonts import is_installed

_COMMON = "/org.openoffice.Office.Common/"
_NONE = "127.0.0.1"
# where, name, value; the proxy is a port on which nobody listens
_SETTINGS: tuple[tuple[str, str, str], ...] = (
    (_COMMON + "Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    (_COMMON + "Security/Scripting", "DisableMacrosExecution", "true"),
    (_COMMON + "Security/Scripting", "DisableActiveContent", "true"),
    (_COMMON + "Security/Scripting", "MacroSecurityLevel", "3"),
    (_COMMON + "Misc", "FirstRun", "false"),
    (_COMMON + "Misc", "UseOpenCL", "false"),
    (_COMMON + "Misc", "CollectUsageInformation", "false"),
    (_COMMON + "Misc", "CrashReport", "false"),
    (_COMMON + "Load", "UserDefinedSettings", "true"),
    (_COMMON + "Save/Document", "AutoSave", "false"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Writer/Content/Update", "Field", "false"),
    ("/org.openoffice.Office.WriterWeb/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    ("/org.openoffice.Office.Calc/Formula/Load", "OOXMLRecalcMode", "1"),
    ("/org.openoffice.Office.Calc/Formula/Load", "ODFRecalcMode", "1"),
    ("/org.openoffice.Office.Calc/Formula/Calculation", "UseThreadedCalculationForFormulaGroups", "false"),
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "2"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyName", _NONE),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", _NONE),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetFTPProxyName", _NONE),
    ("/org.openoffice.Inet/Settings", "ooInetFTPProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetNoProxy", ""),
    ("/org.openoffice.Office.Java/VirtualMachine", "Enable", "false"),
    ("/org.openoffice.Office.Recovery/AutoSave", "Enabled", "false"),
    ("/org.openoffice.Office.Recovery/RecoveryInfo", "Enabled", "false"),
    ("/org.openoffice.Setup/L10N", "ooSetupSystemLocale", "nb-NO"),
    ("/org.openoffice.Setup/Office", "ooSetupInstCompleted", "true"),
)
# text in the first is set in the second where only that is there; LibreOffice knows no twin of these
_SUBSTITUTES = (("Calibri Light", "Carlito"),)
_PAIR = (
    '<item oor:path="{path}Font/Substitution/FontPairs"><node oor:name="_{number}" oor:op="replace">'
    '<prop oor:name="Always" oor:op="fuse"><value>true</value></prop>'
    '<prop oor:name="OnScreenOnly" oor:op="fuse"><value>false</value></prop>'
    '<prop oor:name="ReplaceFont" oor:op="fuse"><value>{font}</value></prop>'
    '<prop oor:name="SubstituteFont" oor:op="fuse"><value>{substitute}</value></prop></node></item>'
)


def profile_settings() -> str:
    """The text of `registrymodifications.xcu`."""
    items = "\n".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, name, value in (*_SETTINGS, (_COMMON + "Font/Substitution", "Replacement", "true"))
    )
    pairs = "\n".join(
        _PAIR.format(path=_COMMON, number=number, font=font, substitute=substitute)
        for number, (font, substitute) in enumerate(_SUBSTITUTES)
        if not is_installed(font) and is_installed(substitute)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n{items}\n{pairs}\n</oor:items>\n'
    )


def write_profile(folder: Path) -> None:
    """Makes a profile that holds our settings and nothing else."""
    user = folder / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(profile_settings(), "utf-8")
