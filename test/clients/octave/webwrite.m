% In the place of MATLAB's function, because Octave's own sends nothing but forms: the request is sent by curl.
function answer = webwrite(url, body, options)
file = tempname();
out = fopen(file, 'w');
fputs(out, body);
fclose(out);
command = sprintf("curl -sS --fail --data-binary @%s -H 'Content-Type: %s' -H '%s: %s' '%s'", file, ...
    options.MediaType, options.HeaderFields{1}, options.HeaderFields{2}, url);
[status, answer] = system(command);
delete(file);
if status ~= 0
    error('webwrite: %s', answer);
end
end
