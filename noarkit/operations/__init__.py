"""Who is told how a command goes, without standing before it: listeners on the one stream of events.

    watch       all of them together: what happens at the start, at each event, at the end
    job         what is said of a command: its name, its place, its outcome
    contract    the schema of what hooks and health checks are given
    tally       how far the step under way is, counted from events
    metrics     a file for Prometheus' textfile collector
    hooks       commands of the site's own
    health      the ping of a health check
    systemd     readiness, status and watchdog
    logs        logs of the system; log_lines: what a line says; syslog: RFC 5424; journald: its own protocol

None of them changes what a command does, but for a hook at the start, which may stop it before anything is done.
"""
