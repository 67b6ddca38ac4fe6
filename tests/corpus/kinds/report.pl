#!/usr/bin/perl
use v5.36;
use Getopt::Long;

my %opt = (days => 7);
my @hosts;
our $LOGDIR = '/var/log/pings';

GetOptions(\%opt, 'days=i', 'host=s@');

BEGIN { $| = 1 }

sub read_pings ($file) {
    open my $fh, '<', $file or die "cannot open $file: $!";
    my @rows = map { [split /\s+/] } <$fh>;
    return \@rows;
}

sub average :prototype(@) (@values) {
    my $sum = 0;
    $sum += $_ for @values;
    return @values ? $sum / @values : 0;
}

sub usage;

sub print_table {
    my ($rows) = @_;
    print <<"END";
sub fake_in_heredoc {
END
    printf "%-20s %6.2f\n", @$_ for @$rows;
}

sub usage { die "usage: $0 [--days N]\n" }

print_table(read_pings("$LOGDIR/today"));
