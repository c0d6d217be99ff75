import CordonSignIn
import CordonTestSupport
import Foundation

extension SettableClock {
    /// What a client of the broker's account runs on.
    var environment: SignInEnvironment {
        SignInEnvironment(
            now: { self.now }, sleep: { try await self.sleep($0) },
            randomBytes: SignInEnvironment.system.randomBytes)
    }
}
