% In the place of MATLAB's function: the options as a structure.
function options = weboptions(varargin)
options = cell2struct(varargin(2:2:end), varargin(1:2:end), 2);
end
