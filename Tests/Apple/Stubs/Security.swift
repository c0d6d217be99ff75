// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Security, as far as CordonApple uses it: declared after the symbol pages, with a Keychain in memory that answers as the system's does.

public import Foundation
@_exported public import FoundationNetworking

public typealias OSStatus = Int32
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int

// What CoreFoundation has for these is not on Linux; `Bridging.swift` is the one file that turns one into the other.
public final class CFString: Hashable, Sendable {
    public let stubName: String
    init(_ name: String) { stubName = name }
    public static func == (left: CFString, right: CFString) -> Bool { left.stubName == right.stubName }
    public func hash(into hasher: inout Hasher) { hasher.combine(stubName) }
}
public final class CFDictionary {
    public let stubMembers: [CFString: Any]
    public init(stubMembers: [CFString: Any]) { self.stubMembers = stubMembers }
}
public final class CFData {
    public let stubData: Data
    init(_ data: Data) { stubData = data }
}
public final class CFError {}
public final class CFArray {
    public let stubCertificates: [SecCertificate]
    init(_ certificates: [SecCertificate]) { stubCertificates = certificates }
}

public let kSecClass = CFString("class")
public let kSecClassGenericPassword = CFString("genp")
public let kSecAttrService = CFString("svce")
public let kSecAttrAccount = CFString("acct")
public let kSecAttrAccessGroup = CFString("agrp")
public let kSecAttrGeneric = CFString("gena")
public let kSecAttrAccessible = CFString("pdmn")
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = CFString("cku")
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = CFString("akpu")
public let kSecAttrAccessControl = CFString("accc")
public let kSecUseAuthenticationContext = CFString("u_AuthCtx")
public let kSecUseDataProtectionKeychain = CFString("nleg")
public let kSecValueData = CFString("v_Data")
public let kSecReturnData = CFString("r_Data")
public let kSecMatchLimit = CFString("m_Limit")
public let kSecMatchLimitOne = CFString("m_LimitOne")

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299
public let errSecUserCanceled: OSStatus = -128
public let errSecNotAvailable: OSStatus = -25291
public let errSecAuthFailed: OSStatus = -25293
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecParam: OSStatus = -50
public let errSecMissingEntitlement: OSStatus = -34018

public final class CFAllocator {}
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    @available(iOS 11.3, macOS 10.13.4, *)
    public static var biometryAny: Self { Self(rawValue: 1 << 1) }
    @available(iOS 11.3, macOS 10.13.4, *)
    public static var biometryCurrentSet: Self { Self(rawValue: 1 << 3) }
}
public final class SecAccessControl {
    public let stubProtection: CFString
    public let stubFlags: SecAccessControlCreateFlags
    init(_ protection: CFString, _ flags: SecAccessControlCreateFlags) {
        (stubProtection, stubFlags) = (protection, flags)
    }
}
@available(iOS 8.0, macOS 10.10, *)
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    (protection as? CFString).map { SecAccessControl($0, flags) }
}
/// What the Keychain asks of an `LAContext`.
public protocol StubAuthentication: AnyObject {
    var stubIsRecognised: Bool { get }
    var interactionNotAllowed: Bool { get }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    StubKeychain.shared.add(attributes.stubMembers)
}
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let (status, data) = StubKeychain.shared.find(query.stubMembers)
    if let result, let data, query.stubMembers[kSecReturnData] as? Bool == true { result.pointee = CFData(data) }
    return status
}
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    StubKeychain.shared.update(query.stubMembers, attributesToUpdate.stubMembers)
}
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { StubKeychain.shared.delete(query.stubMembers) }

/// A Keychain that a test looks into; it stays when an app is deleted.
public final class StubKeychain: @unchecked Sendable {
    public static let shared = StubKeychain()
    private let lock = NSLock()
    private var items: [[CFString: Any]] = []
    /// What every call answers; 0 answers as the items say.
    private var forced: OSStatus = 0

    private static let naming = [kSecClass, kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup]

    public func reset() { lock.withLock { (items, forced) = ([], 0) } }
    public func answer(_ status: OSStatus) { lock.withLock { forced = status } }
    public var count: Int { lock.withLock { items.count } }
    public var classes: Set<CFString> {
        lock.withLock { Set(items.compactMap { $0[kSecAttrAccessible] as? CFString }) }
    }
    public var accessControls: [SecAccessControl] {
        lock.withLock { items.compactMap { $0[kSecAttrAccessControl] as? SecAccessControl } }
    }
    /// Another finger is enrolled: what was for those before is gone.
    public func changeFingers() {
        lock.withLock {
            items.removeAll {
                ($0[kSecAttrAccessControl] as? SecAccessControl)?.stubFlags.contains(.biometryCurrentSet) == true
            }
        }
    }
    public var areInDataProtectionKeychain: Bool {
        lock.withLock { items.allSatisfy { $0[kSecUseDataProtectionKeychain] as? Bool == true } }
    }

    private func matches(_ item: [CFString: Any], _ query: [CFString: Any]) -> Bool {
        (Self.naming + [kSecAttrGeneric]).allSatisfy { key in
            guard let wanted = query[key] else { return true }
            return Self.same(wanted, item[key])
        }
    }
    private static func same(_ left: Any, _ right: Any?) -> Bool {
        if let left = left as? CFString { return left == right as? CFString }
        if let left = left as? String { return left == right as? String }
        if let left = left as? Data { return left == right as? Data }
        return false
    }

    func add(_ item: [CFString: Any]) -> OSStatus {
        lock.withLock {
            if forced != 0 { return forced }
            // Both at once are refused.
            if item[kSecAttrAccessControl] != nil, item[kSecAttrAccessible] != nil { return errSecParam }
            // The primary key of an item: two without an account are one.
            let isTaken = items.contains { old in
                Self.naming.allSatisfy { key in
                    guard let new = item[key] else { return old[key] == nil }
                    return Self.same(new, old[key])
                }
            }
            if isTaken { return errSecDuplicateItem }
            items.append(item)
            return errSecSuccess
        }
    }
    func find(_ query: [CFString: Any]) -> (OSStatus, Data?) {
        lock.withLock {
            if forced != 0 { return (forced, nil) }
            guard let item = items.first(where: { matches($0, query) }) else { return (errSecItemNotFound, nil) }
            if item[kSecAttrAccessControl] != nil, query[kSecReturnData] as? Bool == true {
                let context = query[kSecUseAuthenticationContext] as? any StubAuthentication
                // A dialog of the Keychain's own would hold the thread up: no test has the person answer it.
                if context?.stubIsRecognised != true {
                    return (
                        context?.interactionNotAllowed == true ? errSecInteractionNotAllowed : errSecUserCanceled, nil
                    )
                }
            }
            return (errSecSuccess, item[kSecValueData] as? Data)
        }
    }
    func update(_ query: [CFString: Any], _ change: [CFString: Any]) -> OSStatus {
        lock.withLock {
            if forced != 0 { return forced }
            guard let index = items.firstIndex(where: { matches($0, query) }) else { return errSecItemNotFound }
            items[index].merge(change) { $1 }
            return errSecSuccess
        }
    }
    func delete(_ query: [CFString: Any]) -> OSStatus {
        lock.withLock {
            if forced != 0 { return forced }
            let before = items.count
            items.removeAll { matches($0, query) }
            return items.count == before ? errSecItemNotFound : errSecSuccess
        }
    }
}

public final class SecTrust: @unchecked Sendable {
    public let stubChain: [Data]
    public let stubIsGood: Bool
    public init(stubChain: [Data], stubIsGood: Bool) { (self.stubChain, self.stubIsGood) = (stubChain, stubIsGood) }
}
public final class SecCertificate {
    let data: Data
    init(_ data: Data) { self.data = data }
}
public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool { trust.stubIsGood }
@available(iOS 15.0, macOS 12.0, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    CFArray(trust.stubChain.map(SecCertificate.init))
}
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { CFData(certificate.data) }

// Foundation's on Apple platforms.
extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}
extension URLCredential {
    public convenience init(trust: SecTrust) {
        self.init(user: "", password: "", persistence: .none)
    }
}
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
}
extension URLSessionConfiguration {
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { .TLSv12 }
        set {}
    }
}
