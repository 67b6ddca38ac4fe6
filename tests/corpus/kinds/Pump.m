classdef Pump < handle
    %PUMP a water pump

    properties
        Rate = 1.0
        Label (1,:) char = 'main'
    end

    properties (Constant)
        MaxRate = 9
    end

    events
        Overheated
    end

    methods
        function obj = Pump(label)
            obj.Label = label;
        end

        function start(obj)
            obj.Rate = min(obj.Rate + 1, obj.MaxRate);
        end

        function set.Rate(obj, value)
            obj.Rate = value;
        end
    end

    methods (Static)
        function p = fromFile(path)
            p = Pump(fileread(path));
        end
    end
end
