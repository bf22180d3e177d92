# Calls every operation with SOAP::Lite and prints the numbers: soap_lite_client.pl URL VERSION ARGUMENTS.
use strict;
use warnings;
use JSON::PP;
use SOAP::Lite;

my ($url, $version, $json) = @ARGV;
my $namespace = 'http://turbulence.pha.jhu.edu/';
my $arguments = JSON::PP->new->decode($json);
my $order = delete $arguments->{order};

# The description names every operation that is called below.
my $described = SOAP::Schema->new(schema_url => "$url?wsdl")->parse->services;
my ($methods) = values %$described;

# SOAP::Lite knows by name only the parts of a fault that SOAP 1.1 has.
sub fault {
    my ($soap, $answer) = @_;
    die 'fault: ' . (ref $answer ? $answer->faultstring // $answer->valueof('//Fault/Reason/Text') : $soap->transport->status);
}

SOAP::Lite->soapversion($version);
my $soap = SOAP::Lite->new->proxy($url)->default_ns($namespace)->autotype(0)->encodingStyle('')
    ->on_action(sub { $_[0] . $_[1] })->on_fault(\&fault);

sub array {
    my ($item, $points) = @_;
    return \SOAP::Data->value(
        map {
            my @p = @$_;
            SOAP::Data->name($item => \SOAP::Data->value(map { SOAP::Data->name(('x', 'y', 'z')[$_] => $p[$_]) } 0 .. 2))
        } @$points
    );
}

my %answers;
for my $operation (keys %$order) {
    die "not described: $operation" unless $methods->{$operation};
    my $members = $arguments->{$operation};
    my @data = map {
        my $value = $members->{$_};
        $value = array($_ eq 'points' ? 'Point3' : 'Vector3', $value) if ref $value;
        SOAP::Data->name($_ => $value)
    } @{ $order->{$operation} };
    my $som = $soap->call($operation => @data);
    my @records;
    for my $i (1 .. scalar(my @all = $som->dataof("//${operation}Result/*"))) {
        my @values = map { $_->value + 0 } $som->dataof("//${operation}Result/[$i]/*");
        @values = ($som->dataof("//${operation}Result/[$i]")->value + 0) unless @values;
        push @records, \@values;
    }
    $answers{$operation} = \@records;
}
print JSON::PP->new->encode(\%answers), "\n";
