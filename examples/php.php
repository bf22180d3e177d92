<?php
// GetVelocity with SoapClient (Debian: php-cli, php-soap): php php.php
// Against the public service only $url changes, beside its own names of token and dataset.
$url = $argv[1] ?? 'http://127.0.0.1:8080/service/turbulence.asmx?wsdl';

$client = new SoapClient($url, ['soap_version' => SOAP_1_2, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
$answer = $client->GetVelocity([
    'authToken' => 'my-token', 'dataset' => 'isotropic32', 'time' => 0.1,
    'spatialInterpolation' => 'Lag8', 'temporalInterpolation' => 'PCHIP',
    'points' => ['Point3' => [['x' => 1, 'y' => 2, 'z' => 3]]],
]);
foreach ($answer->GetVelocityResult->Vector3 as $velocity) {
    echo "$velocity->x $velocity->y $velocity->z\n";
}
