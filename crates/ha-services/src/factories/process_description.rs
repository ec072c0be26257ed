/// What others are told of the process that makes services, and how patient it is at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessDescription {
    /// Its name, for people: it stands in the latch. Host and process id where there is none.
    pub name: Option<String>,
    /// Try to reach ZooKeeper for ever, instead of giving up after the configured attempts.
    pub wait_for_zookeeper: bool,
}
