#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The three standard streams of this process. The program that starts it may have closed any of them.
package enum StandardStreams {
    /// Opens `/dev/null` in the place of each that is closed. The next file that the program opens would get its number, and with it
    /// everything that the program says. Writing to standard output fails as before, so that what is lost does not count as written.
    package static func fillGaps() {
        // In rising order: a file that is opened gets the lowest free number.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }
}
