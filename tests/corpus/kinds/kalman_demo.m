function [xs, err] = kalman_demo(zs, varargin)
%KALMAN_DEMO filter a series of measurements
%   function fake(x)
opts = parse_options(varargin{:});
xs = zeros(size(zs));
for k = 1:numel(zs)
    xs(k) = update_state(zs(k), opts.gain);
end
err = rms_error(xs, zs);
end

function opts = parse_options(varargin)
    opts.gain = 0.4;
    if nargin > 0
        opts.gain = varargin{1};
    end
end

function x = update_state(z, gain)
    persistent last
    if isempty(last), last = z; end
    x = last + gain * (z - last);
    last = x;
end

function e = rms_error(a, b)
    square = @(v) v .^ 2;
    e = sqrt(mean(square(a - b)));
end

function plot_result
    plot(1:10);
end
