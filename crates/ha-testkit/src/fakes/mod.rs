//! What tests put in place of time, ids, and the user's callbacks.

mod gate;
mod manual_clock;
mod recorder;
mod recording_contender;
mod recording_fatal_error_handler;
mod recording_job_graph_listener;
mod recording_listener;
mod seeded_id_source;
mod simulated_process;
mod test_environment;

pub use gate::Gate;
pub use manual_clock::ManualClock;
pub use recorder::Recorder;
pub use recording_contender::{Behaviour, ContenderCall, ContenderEvent, RecordingContender};
pub use recording_fatal_error_handler::RecordingFatalErrorHandler;
pub use recording_job_graph_listener::{JobGraphEvent, RecordingJobGraphListener};
pub use recording_listener::{ListenerBehaviour, ListenerEvent, RecordingListener};
pub use seeded_id_source::SeededIdSource;
pub use simulated_process::SimulatedProcess;
pub use test_environment::TestEnvironment;
