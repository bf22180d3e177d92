<?php
// Calls every operation of the later interface with PHP's SoapClient and prints its numbers: php_later.php URL VERSION ARGUMENTS.
[, $url, $version, $json] = $argv;
$client = new SoapClient("$url?wsdl=later", [
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'cache_wsdl' => WSDL_CACHE_NONE,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);

/** The numbers of an answer: bytes of a cutout, floats, or members of records. */
function numbers($answer): array {
    if (is_string($answer)) return array_values(unpack('g*', $answer));
    $found = [];
    foreach (array_values((array) $answer)[0] as $record) array_push($found, ...array_values((array) $record));
    return $found;
}

$answers = [];
foreach (json_decode($json, true) as $operation => $members) {
    $points = $members['points'] ?? null;
    if ($points !== null && str_ends_with($operation, '_Python')) {
        $axes = array_map(fn($axis) => ['float' => array_column($points, $axis)], [0, 1, 2]);
        $members['points'] = ['ArrayOfFloat' => $axes];
    } elseif ($points !== null) {
        $members['points'] = ['Point3' => array_map(fn($p) => array_combine(['x', 'y', 'z'], $p), $points)];
    }
    $answers[$operation] = numbers($client->$operation($members)->{"{$operation}Result"});
}
ini_set('serialize_precision', '-1');
echo json_encode($answers), "\n";
