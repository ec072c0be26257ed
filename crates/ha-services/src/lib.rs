//! ha-services
