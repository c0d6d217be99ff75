public import Foundation

/// Shows a page of the provider in the system browser; the app says how.
///
/// On Linux it opens the page and returns nil at once; the answer arrives at the loopback listener. On Apple
/// platforms an authentication session both shows the page and returns the answer. It throws when it cannot show a page,
/// and `CancellationError` when the person closes it. ``SignInClient`` cancels a launcher that waits for its page to end once the
/// answer has arrived, or when no one has signed in within ``SignInConfiguration/interactionTimeout``; ``SharedDeviceMode`` never does.
///
/// ```swift
/// let browser = BrowserLauncher.opening { page in print("Open \(page.absoluteString).") }
/// ```
public struct BrowserLauncher: Sendable {
    private let show: @Sendable (_ page: URL, _ redirect: URL) async throws -> URL?

    /// Makes a launcher from a function of the page and the redirect that the page will end at.
    public init(_ show: @escaping @Sendable (_ page: URL, _ redirect: URL) async throws -> URL?) {
        self.show = show
    }

    /// Makes a launcher for a loopback redirect: the function only opens the page.
    public static func opening(_ open: @escaping @Sendable (URL) async throws -> Void) -> BrowserLauncher {
        BrowserLauncher { page, _ in
            try await open(page)
            return nil
        }
    }

    package func visit(_ page: URL, redirect: URL) async throws(SignInError) -> URL? {
        do {
            return try await show(page, redirect)
        } catch is CancellationError {
            throw SignInError(.cancelled, .stopped, "the page was closed")
        } catch let error as SignInError {
            throw error
        } catch {
            throw SignInError(.configuration, .authorizationFailed, "no browser could be opened")
        }
    }
}
