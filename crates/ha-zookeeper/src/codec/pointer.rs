use serde::Deserialize;
use uuid::Uuid;

/// The write id in a pointer's data, whatever else is there. `None` when there is none.
pub(crate) fn write_id_of(data: &[u8]) -> Option<Uuid> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Probe {
        write_id: Uuid,
    }
    serde_json::from_slice::<Probe>(data)
        .ok()
        .map(|probe| probe.write_id)
}
