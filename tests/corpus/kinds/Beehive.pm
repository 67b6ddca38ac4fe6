package Apiary::Beehive;

use strict;
use warnings;
use constant FRAME_COUNT => 10;
use constant {
    COLD_LIMIT => 4,
    HOT_LIMIT  => 38,
};

our $VERSION = '0.03';
our @EXPORT_OK = qw(weigh_hive);

has queen => (is => 'ro', required => 1);

sub new {
    my ($class, %args) = @_;
    return bless {%args}, $class;
}

sub weigh_hive($$) { return $_[0] * $_[1] }

sub _is_cold
{
    my $self = shift;
    return $self->{temp} < COLD_LIMIT;
}

my $log_visit = sub {
    print STDERR "visited\n";
};

*inspect = \&weigh_hive;

package Apiary::Beehive::Frame {
    sub honey_area { $_[0]{area} }
}

1;

__END__

=head1 NAME

Apiary::Beehive - sub not_a_sub { }

=cut
