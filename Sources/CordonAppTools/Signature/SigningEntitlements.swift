import Foundation

/// Entitlements as they are signed: devices compare them literally, so no build variable may be left in them.
struct SigningEntitlements {
    let bundle: AppBundle?
    /// The team of the certificate that signs; nil for an ad-hoc signature.
    let team: String?
    /// Values that the caller gives; they go before all others.
    let defines: [String: String]

    /// The entitlements with every build variable replaced, the very bytes when there is none.
    /// - Throws: `refused` for a variable that nothing gives a value to and for an Info.plist; `malformed` for what is
    ///   no property list.
    func resolved(_ data: Data) throws(AppToolsError) -> Data {
        let value = try naming("entitlements") { () throws(AppToolsError) in try PropertyList(reading: data).value }
        if let key = value.dictionary?.keys.first(where: { $0.hasPrefix("CFBundle") }) {
            throw AppToolsError(
                .refused, "the entitlements have the key \(key): this is an Info.plist",
                hint: "give the .entitlements file of the target")
        }
        guard BuildVariables.firstText(in: value) != nil else { return data }
        let expanded = try BuildVariables(defines: values()).expanded(value)
        if let left = BuildVariables.firstText(in: expanded) {
            throw AppToolsError(
                .refused, "the build variable in the entitlement \(left) has no value",
                hint: "--setting NAME=VALUE, for example --setting AppIdentifierPrefix=ABCDE12345.")
        }
        return XMLPropertyListWriter().document(expanded)
    }

    /// What the bundle, its provisioning profile and the certificate say. Old apps have a prefix that is not their
    /// team's, so the profile goes before the certificate.
    private func values() throws(AppToolsError) -> [String: String] {
        var values: [String: String] = [:]
        let profile = try profile()
        if let prefix = profile?.prefix ?? team { values["AppIdentifierPrefix"] = prefix + "." }
        if let team = profile?.teams.first ?? team { values["TeamIdentifierPrefix"] = team + "." }
        if let identifier = bundle?.identifier {
            values["CFBundleIdentifier"] = identifier
            values["PRODUCT_BUNDLE_IDENTIFIER"] = identifier
        }
        return values.merging(defines) { $1 }
    }

    private func profile() throws(AppToolsError) -> ProvisioningProfile? {
        guard let file = bundle?.url.appendingPathComponent("embedded.mobileprovision"),
            InputFile.kind(of: file).exists
        else { return nil }
        let data = try InputFile.map(file)
        return try naming(file.path) { () throws(AppToolsError) in try ProvisioningProfile(data) }
    }
}
