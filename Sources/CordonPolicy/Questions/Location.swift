internal import CordonBase

/// A place that data is saved to or opened from (SDK-DT-05…16).
///
/// The names are those of a question's JSON; some places can only be saved to, some only be opened from.
public enum Location: String, Sendable, Hashable, Codable, CaseIterable {
    /// The organisation's cloud drive; both ways.
    case oneDriveForBusiness
    /// The organisation's document server; both ways.
    case sharePoint
    /// Box; both ways.
    case box
    /// Dropbox; saving.
    case dropbox
    /// Google Drive; saving.
    case googleDrive
    /// Storage that only this app can reach; saving.
    case localDrive
    /// The photo library; saving.
    case cameraRoll
    /// An unlisted place tied to a managed account; both ways.
    case accountDocument
    /// iManage; both ways.
    case iManage
    /// Egnyte; both ways.
    case egnyte
    /// Personal, unlisted or unknown; both ways.
    case other
    /// A fresh picture; opening.
    case camera
    /// Storage that only this app can reach; opening.
    case localStorage
    /// A picture from the library; opening.
    case photos

    /// The number that the field's save-to question uses; nil where saving makes no sense.
    public var saveNumber: Int? {
        switch self {
        case .other: 0
        case .oneDriveForBusiness: 1
        case .sharePoint: 2
        case .box: 4
        case .dropbox: 8
        case .googleDrive: 16
        case .localDrive: 32
        case .cameraRoll: 64
        case .accountDocument: 128
        case .iManage: 256
        case .egnyte: 512
        case .camera, .localStorage, .photos: nil
        }
    }

    /// The number that the field's open-from question uses; nil where opening makes no sense.
    public var openNumber: Int? {
        switch self {
        case .other: 0
        case .oneDriveForBusiness: 1
        case .sharePoint: 2
        case .camera: 4
        case .localStorage: 8
        case .photos: 16
        case .accountDocument: 32
        case .box: 64
        case .iManage: 128
        case .egnyte: 256
        case .dropbox, .googleDrive, .localDrive, .cameraRoll: nil
        }
    }

    /// The place as a sentence names it.
    var name: String {
        switch self {
        case .oneDriveForBusiness: "OneDrive for Business"
        case .sharePoint: "SharePoint"
        case .box: "Box"
        case .dropbox: "Dropbox"
        case .googleDrive: "Google Drive"
        case .localDrive, .localStorage: Texts.placeOwnStorage
        case .cameraRoll, .photos: Texts.placePhotoLibrary
        case .accountDocument: Texts.placeOfAccount
        case .iManage: "iManage"
        case .egnyte: "Egnyte"
        case .other: Texts.placeUnlisted
        case .camera: Texts.placeCamera
        }
    }

    /// The exception of a policy that opens this place for saving.
    var storageException: StorageLocations? {
        switch self {
        case .oneDriveForBusiness: .oneDriveForBusiness
        case .sharePoint: .sharePoint
        case .box: .box
        case .localDrive: .localStorage
        case .cameraRoll: .photoLibrary
        case .iManage: .iManage
        case .egnyte: .egnyte
        default: nil
        }
    }

    /// The exception of a policy that opens this source.
    var ingestionException: IngestionLocations? {
        switch self {
        case .oneDriveForBusiness: .oneDriveForBusiness
        case .sharePoint: .sharePoint
        case .camera: .camera
        case .localStorage: .localStorage
        case .photos: .photoLibrary
        default: nil
        }
    }

    /// Whether no account can belong to the place, so that a question about it names none (SDK-NA-06).
    public var belongsToNobody: Bool {
        switch self {
        case .cameraRoll, .camera, .photos: true
        default: false
        }
    }

    /// Whether an account that is named for the place must be an organisation's.
    var isOrganizationPlace: Bool {
        switch self {
        case .oneDriveForBusiness, .sharePoint, .accountDocument: true
        default: false
        }
    }
}
