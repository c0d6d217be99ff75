package import Testing

extension Tag {
    /// The suite starts many processes, or has deadlines of seconds: it runs alone on the machine.
    ///
    /// `make test` runs suites with this tag one after another, when all others are done; `Scripts/suites.sh` lists them by it.
    @Tag package static var machineAlone: Self
}
