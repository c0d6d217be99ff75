package import Testing

extension Tag {
    /// The suite starts many processes, or has deadlines of seconds.
    ///
    /// `make test` runs suites with this tag one after another, when all others are done; `Scripts/suites.py` lists them by it.
    @Tag package static var machineAlone: Self

    /// The suite drives other projects' programs and sets them no deadline.
    ///
    /// `make test` runs suites with this tag one after another, in a process of their own after those of ``machineAlone``.
    @Tag package static var foreignPrograms: Self
}
