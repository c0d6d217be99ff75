import CordonApple
import Crypto
import Foundation
import LocalAuthentication
import Security
import Testing

extension AppleAdapters {
    @Suite @MainActor struct BiometryInTheKeychain {
        private let items = KeychainBiometry()
        private let key = SymmetricKey(size: .bits256)

        init() {
            StubKeychain.shared.reset()
            LAContext.stubAsked = 0
        }

        @Test func `a finger opens the key, and only those that were enrolled when it was kept`() async {
            #expect(await items.keep(key, named: "a") == .done)
            let access = StubKeychain.shared.accessControls
            #expect(access.map(\.stubProtection) == [kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly])
            #expect(access.map(\.stubFlags) == [.biometryCurrentSet])
            #expect(StubKeychain.shared.areInDataProtectionKeychain)
            #expect(LAContext.stubAsked == 0, "keeping shows no dialog")
            #expect(await items.key(named: "a") == (.done, key))
            #expect(LAContext.stubAsked == 1)
            StubKeychain.shared.changeFingers()
            #expect(await items.key(named: "a") == (.notFound, nil))
            #expect(LAContext.stubAsked == 1, "no dialog asks for what is not there")
        }

        @Test func `a right PIN keeps a new key, and what is forgotten is gone`() async {
            #expect(await items.keep(SymmetricKey(size: .bits256), named: "a") == .done)
            #expect(await items.keep(key, named: "a") == .done)
            #expect(StubKeychain.shared.count == 1)
            #expect(await items.key(named: "a") == (.done, key))
            #expect(await items.key(named: "b") == (.notFound, nil))
            #expect(await items.forget("a") == .done)
            #expect(await items.forget("a") == .done)
            #expect(StubKeychain.shared.count == 0)
            #expect(await items.key(named: "a") == (.notFound, nil))
        }

        @Test func `one dialog does for the screen and for the key, once`() async {
            let reader = DeviceBiometry(opening: items)
            #expect(await items.keep(key, named: "a") == .done)
            #expect(await reader.recognises(because: "test"))
            #expect(await items.key(named: "a") == (.done, key))
            #expect(LAContext.stubAsked == 1, "the person is asked once")
            #expect(await items.key(named: "a") == (.done, key))
            #expect(LAContext.stubAsked == 2, "and again for the next opening")
            #expect(await DeviceBiometry().recognises(because: "test"))
            #expect(await items.key(named: "a") == (.done, key))
            #expect(LAContext.stubAsked == 4, "a reader of its own hands nothing over")
        }

        @Test
        func `a dialog that did not recognise, or that the Keychain does not take, is followed by the item's own`()
            async
        {
            let reader = DeviceBiometry(opening: items)
            #expect(await items.keep(key, named: "a") == .done)
            LAContext.stubAnswer = false
            #expect(await !reader.recognises(because: "test"))
            LAContext.stubAnswer = true
            #expect(await items.key(named: "a") == (.done, key))
            #expect(LAContext.stubAsked == 2)
            LAContext.stubPolicyCounts = false
            #expect(await reader.recognises(because: "test"))
            #expect(await items.key(named: "a") == (.done, key))
            LAContext.stubPolicyCounts = true
            #expect(LAContext.stubAsked == 4)
            #expect(await reader.recognises(because: "test"))
            StubKeychain.shared.changeFingers()
            #expect(await items.key(named: "a") == (.notFound, nil))
            #expect(LAContext.stubAsked == 5, "no dialog asks for what is not there")
        }

        @Test(arguments: [
            (LAError.Code.userCancel, BiometryItemStatus.cancelled), (.userFallback, .cancelled),
            (.systemCancel, .cancelled), (.appCancel, .cancelled), (.authenticationFailed, .notRecognised),
            (.biometryLockout, .unavailable), (.biometryNotEnrolled, .unavailable), (.passcodeNotSet, .unavailable),
            (.notInteractive, .unavailable), (.invalidContext, .unavailable),
        ])
        func `who is not recognised gets no key, and the key stays`(
            _ failure: LAError.Code, _ status: BiometryItemStatus
        ) async {
            #expect(await items.keep(key, named: "a") == .done)
            LAContext.stubFailure = LAError(failure)
            #expect(await items.key(named: "a") == (status, nil))
            LAContext.stubFailure = nil
            #expect(await items.key(named: "a") == (.done, key))
        }

        @Test(arguments: [
            (errSecInteractionNotAllowed, BiometryItemStatus.unavailable), (errSecNotAvailable, .unavailable),
            (errSecUserCanceled, .cancelled), (errSecAuthFailed, .notRecognised),
            (errSecMissingEntitlement, .unavailable),
        ])
        func `a Keychain that does not answer keeps, gives and forgets nothing`(
            _ answer: Int32, _ status: BiometryItemStatus
        ) async {
            StubKeychain.shared.answer(answer)
            #expect(await items.keep(key, named: "a") == status)
            #expect(await items.key(named: "a") == (status, nil))
            #expect(await items.forget("a") == status)
            StubKeychain.shared.answer(0)
            #expect(StubKeychain.shared.count == 0)
        }
    }
}
