use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::apt;

const DEBIAN_JAR: &str = "/usr/share/java/zookeeper.jar";
const DEBIAN_LOGGER: &str = "/usr/share/java/slf4j-simple.jar";
/// `libzookeeper-java` depends on all that the server needs.
const PACKAGES: [&str; 2] = ["default-jre-headless", "libzookeeper-java"];
/// The heap of what is no server.
const HEAP_FLAG: &str = "-Xmx128m";
/// A small server that is up in less than a second.
pub(in crate::ensemble) const JVM_FLAGS: [&str; 4] = [
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.net.preferIPv4Stack=true",
];

/// The Java and the ZooKeeper jars of this machine.
#[derive(Clone, Debug)]
pub struct Installation {
    java: PathBuf,
    classpath: String,
    origin: String,
}

impl Installation {
    /// Finds ZooKeeper in `ZOOKEEPER_HOME` (its `lib` folder) or in Debian's `/usr/share/java`. When there is none
    /// and this is root on a machine with apt, installs it, once.
    ///
    /// # Errors
    /// There is none and none could be installed: the error says what to install.
    pub fn find_or_install() -> Result<Self> {
        let missing = match Self::find()? {
            Ok(found) => return Ok(found),
            Err(missing) => missing,
        };
        let advice = format!(
            "install a Java runtime and ZooKeeper ({}), or set ZOOKEEPER_HOME (and JAVA_HOME), or give the \
             address of a server by HA_TEST_ZOOKEEPER=host:port",
            PACKAGES.join(", ")
        );
        if !rustix::process::geteuid().is_root() {
            bail!("{missing}, and this is not root, so nothing was installed; {advice}");
        }
        apt::install(&PACKAGES, || matches!(Self::find(), Ok(Ok(_))))
            .with_context(|| format!("{missing}, and installing it failed; {advice}"))?;
        Self::find()?.map_err(|missing| anyhow::anyhow!("{missing}, after the installation too; {advice}"))
    }

    /// `Err` of the outer result: a wrong `ZOOKEEPER_HOME`; of the inner: what is missing.
    fn find() -> Result<Result<Self, String>> {
        let Some(java) = find_java() else {
            return Ok(Err("there is no `java`".to_owned()));
        };
        if let Some(home) = std::env::var_os("ZOOKEEPER_HOME") {
            let lib = Path::new(&home).join("lib");
            if !contains_zookeeper(&lib) {
                bail!("ZOOKEEPER_HOME: {} holds no zookeeper-*.jar", lib.display());
            }
            return Ok(Ok(Self {
                java,
                classpath: format!("{}/*", lib.display()),
                origin: format!("ZooKeeper of {}", lib.display()),
            }));
        }
        if !Path::new(DEBIAN_JAR).exists() {
            return Ok(Err(format!("there is no {DEBIAN_JAR}")));
        }
        let version = debian_version().unwrap_or_default();
        Ok(Ok(Self {
            java,
            // The jar's manifest names everything that it needs; only the logger is ours to choose.
            classpath: format!("{DEBIAN_JAR}:{DEBIAN_LOGGER}"),
            origin: format!("Debian's ZooKeeper {version}"),
        }))
    }

    /// Where it comes from, for people.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A command that runs one of ZooKeeper's main classes, its input closed, its output still to be chosen.
    pub fn command(&self, main_class: &str, properties: &[(&str, &str)]) -> Command {
        self.command_with(HEAP_FLAG, main_class, properties)
    }

    /// The same with a heap of its own, as Java's option says it.
    pub(super) fn command_with(
        &self,
        heap_flag: &str,
        main_class: &str,
        properties: &[(&str, &str)],
    ) -> Command {
        let mut command = Command::new(&self.java);
        command.arg(heap_flag).args(JVM_FLAGS);
        for (key, value) in properties {
            command.arg(format!("-D{key}={value}"));
        }
        command
            .arg("-cp")
            .arg(&self.classpath)
            .arg(main_class)
            .stdin(Stdio::null());
        command
    }
}

/// The version in the name of the jar with a version that stands beside the one without.
fn debian_version() -> Option<String> {
    let folder = Path::new(DEBIAN_JAR).parent()?;
    std::fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("zookeeper-")?.strip_suffix(".jar")?;
        version
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| version.to_owned())
    })
}

fn contains_zookeeper(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("zookeeper-") && name.ends_with(".jar")
        })
    })
}

fn find_java() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    home.into_iter()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("java"))
        .find(|java| java.is_file())
}
