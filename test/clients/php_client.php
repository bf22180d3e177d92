<?php
// Calls every operation with PHP's SoapClient and prints the numbers: php_client.php URL VERSION ARGUMENTS.
[, $url, $version, $json] = $argv;
$client = new SoapClient("$url?wsdl", [
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'cache_wsdl' => WSDL_CACHE_NONE,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);
$answers = [];
foreach (json_decode($json, true) as $operation => $members) {
    foreach (['points' => 'Point3', 'InitialV' => 'Vector3'] as $name => $item) {
        if (isset($members[$name])) {
            $members[$name] = [$item => array_map(fn($p) => array_combine(['x', 'y', 'z'], $p), $members[$name])];
        }
    }
    $result = $client->$operation($members)->{"{$operation}Result"};
    $records = array_values((array) $result)[0];
    $answers[$operation] = array_map(fn($record) => array_values((array) $record), $records);
}
echo json_encode($answers), "\n";
