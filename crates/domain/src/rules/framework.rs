//! The framework of a project, as far as rules depend on it. WIRE 4.3, 5.1, 5.6.

/// Kind of program that sends the telemetry of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Framework {
    /// A server, or unknown.
    #[default]
    Other = 0,
    /// JavaScript on a server: stack traces are resolved with source maps.
    NodeServer = 1,
    /// JavaScript in a browser.
    Browser = 2,
    /// JavaScript in a mobile application.
    ReactNative = 3,
    /// Dart.
    Flutter = 4,
    /// Java or Kotlin in a mobile application.
    Android = 5,
    /// Swift or Objective-C.
    Ios = 6,
}

impl Framework {
    /// By the name that a project has. WIRE 5.1.
    pub fn of_project(name: &str) -> Framework {
        match name {
            "nextjs" | "nestjs" | "express" | "remix" | "hono" | "cloudflare" => Framework::NodeServer,
            "react" | "svelte" | "vuejs" | "jquery" => Framework::Browser,
            "react-native" => Framework::ReactNative,
            "flutter" => Framework::Flutter,
            "android" => Framework::Android,
            "ios" => Framework::Ios,
            _ => Framework::Other,
        }
    }

    /// By its number in the journal.
    pub fn from_number(number: u8) -> Option<Framework> {
        use Framework::*;
        [Other, NodeServer, Browser, ReactNative, Flutter, Android, Ios].get(usize::from(number)).copied()
    }

    /// Whether the program runs on the devices of users: its OTLP spans make no Endpoints and Tasks. WIRE 5.6.
    pub fn is_front_end(self) -> bool {
        !matches!(self, Framework::Other | Framework::NodeServer)
    }

    /// The `telemetry.sdk.language` that chooses the symbolication of its native reports; empty: by the shape of frames.
    /// WIRE 4.3.
    pub fn language(self) -> &'static str {
        match self {
            Framework::Other => "",
            Framework::NodeServer => "nodejs",
            Framework::Browser => "webjs",
            Framework::ReactNative => "javascript",
            Framework::Flutter => "dart",
            Framework::Android => "android",
            Framework::Ios => "swift",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // WIRE 4.3, 5.6.
    #[test]
    fn framework_table() {
        for (name, is_front_end, language) in [
            ("gin", false, ""),
            ("opentelemetry", false, ""),
            ("django", false, ""),
            ("express", false, "nodejs"),
            ("nextjs", false, "nodejs"),
            ("react", true, "webjs"),
            ("svelte", true, "webjs"),
            ("vuejs", true, "webjs"),
            ("jquery", true, "webjs"),
            ("react-native", true, "javascript"),
            ("flutter", true, "dart"),
            ("android", true, "android"),
            ("ios", true, "swift"),
            ("", false, ""),
        ] {
            let framework = Framework::of_project(name);
            assert_eq!((framework.is_front_end(), framework.language()), (is_front_end, language), "{name}");
            assert_eq!(Framework::from_number(framework as u8), Some(framework));
        }
        assert_eq!(Framework::from_number(7), None);
    }
}
