# GetVelocity with SOAP::Lite (Debian: libsoap-lite-perl): perl perl.pl
# Against the public service only $url changes, beside its own names of token and dataset.
use strict;
use warnings;
use SOAP::Lite;

my $url = $ARGV[0] // 'http://127.0.0.1:8080/service/turbulence.asmx';
my $namespace = 'http://turbulence.pha.jhu.edu/';

# encodingStyle('') tells SOAP::Lite that messages are literal; SOAP 1.2 needs it.
SOAP::Lite->soapversion('1.2');
my $soap = SOAP::Lite->proxy($url)->default_ns($namespace)->autotype(0)->encodingStyle('')
    ->on_action(sub { join '', @_ });
my @members = (
    [authToken => 'my-token'], [dataset => 'isotropic32'], [time => 0.1],
    [spatialInterpolation => 'Lag8'], [temporalInterpolation => 'PCHIP'],
);
my @point = map { SOAP::Data->name(@$_) } [x => 1], [y => 2], [z => 3];
my $answer = $soap->call(
    GetVelocity => (map { SOAP::Data->name(@$_) } @members),
    SOAP::Data->name(points => \SOAP::Data->name(Point3 => \SOAP::Data->value(@point)))
);
die $answer->valueof('//Fault/Reason/Text'), "\n" if $answer->fault;
print join(' ', map { $_->value } $answer->dataof('//Vector3/*')), "\n";
