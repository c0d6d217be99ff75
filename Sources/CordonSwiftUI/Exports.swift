@_exported public import Cordon
@_exported public import CordonApple
@_exported public import CordonScreens
@_exported public import CordonUIKit
