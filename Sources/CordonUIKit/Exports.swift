@_exported public import Cordon
@_exported public import CordonScreens
