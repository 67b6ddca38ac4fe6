#requires -Version 5
[CmdletBinding()]
param(
    [string]$Site = 'north'
)

$script:DefaultQueue = 'lp-hall'

enum QueueState {
    Idle
    Jammed
}

class PrintQueue {
    [string]$Name
    hidden [int]$Jobs = 0

    PrintQueue([string]$name) {
        $this.Name = $name
    }

    [bool] IsBusy() {
        return $this.Jobs -gt 0
    }

    static [PrintQueue] FromLine([string]$line) {
        return [PrintQueue]::new($line.Trim())
    }
}

function Get-PrinterQueue {
    param([Parameter(Mandatory)][string]$Path)
    Get-Content $Path | ForEach-Object { [PrintQueue]::FromLine($_) }
}

function script:Clear-Jam($queue) {
    Write-Verbose "clearing $($queue.Name)"
}

filter Select-Busy { if ($_.IsBusy()) { $_ } }

Get-PrinterQueue "C:\queues\$Site.txt" | Select-Busy
