use crate::codec::LatchData;

/// What the latch of this process says of it: `name`, or host and process id where there is none.
pub fn describe_this_process(name: Option<&str>) -> LatchData {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let pid = std::process::id();
    LatchData {
        process: name.map_or_else(|| format!("{host}-{pid}"), str::to_owned),
        host,
        pid,
        tool: None,
        leader_session_id: None,
    }
}
