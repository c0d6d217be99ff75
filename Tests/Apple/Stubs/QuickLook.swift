// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import UIKit

@MainActor public protocol QLPreviewItem: NSObjectProtocol {
    var previewItemURL: URL? { get }
}
extension NSURL: QLPreviewItem {
    public var previewItemURL: URL? { self as URL }
}
@MainActor public protocol QLPreviewControllerDataSource: AnyObject {
    func numberOfPreviewItems(in controller: QLPreviewController) -> Int
    func previewController(_ controller: QLPreviewController, previewItemAt index: Int) -> any QLPreviewItem
}
@MainActor public protocol QLPreviewControllerDelegate: AnyObject {
    func previewControllerDidDismiss(_ controller: QLPreviewController)
}
@MainActor open class QLPreviewController: UIViewController {
    open weak var dataSource: (any QLPreviewControllerDataSource)?
    open weak var delegate: (any QLPreviewControllerDelegate)?
    open func reloadData() {}
}
