Imports System.Collections.Generic

Namespace Stadium

    Public Enum GateState
        Locked
        Open
    End Enum

    Public Interface IGate
        Function TryPass(ticket As String) As Boolean
    End Interface

    Public Class Turnstile
        Implements IGate

        Private Const MaxPerMinute As Integer = 30
        Private _count As Integer

        Public Event Jammed(sender As Object)

        Public Property Label As String

        Public Sub New(label As String)
            Me.Label = label
        End Sub

        Public Function TryPass(ticket As String) As Boolean Implements IGate.TryPass
            _count += 1
            Return _count < MaxPerMinute
        End Function

        Private Shared Sub LogPass(ByVal text As String)
            Console.WriteLine(text)
        End Sub
    End Class

    Module Helpers
        Friend Function CountOpen(gates As List(Of Turnstile)) As Integer
            Return gates.Count
        End Function
    End Module
End Namespace
