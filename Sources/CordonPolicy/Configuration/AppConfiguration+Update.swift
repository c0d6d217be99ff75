/// Where a newer version of the app is, for a person whose version is too old (SRV-RS-062).
extension AppConfiguration {
    /// The key under which a deployment says where its people get the app.
    public static let updateAddressKey = "CordonUpdateAddress"
    /// The same in the words of Intune.
    static let storeAddressKey = "com.microsoft.intune.myappstore"

    /// The address that is deployed; nil for none, and for what is not an address of a page or of a store: it is shown to people
    /// and opened for them.
    public var updateAddress: String? {
        [Self.updateAddressKey, Self.storeAddressKey].lazy.compactMap { string(for: $0, .min) }
            .first(where: Self.leadsToStore)
    }

    private static func leadsToStore(_ address: String) -> Bool {
        guard (12...2_048).contains(address.utf8.count), address.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
            let scheme = URLRule.scheme(of: address)
        else { return false }
        return ["https", "itms-apps", "itms-appss", "itms-services", "market"].contains(scheme)
    }
}
