local grafana = import 'grafana.libsonnet';
local refresh = '30s';

local panel(title, expr, unit='short') = {
  title: title,
  targets: [{ expr: expr }],
  unit: unit,
};

local mergeAll = function(xs) std.foldl(function(a, b) a + b, xs, {});

{
  _config:: {
    cluster: 'north',
  },

  title: 'Pumps of ' + self._config.cluster,
  refresh: refresh,

  addRow(row):: self + { rows+: [row] },

  panels: [
    panel('Flow', 'sum(flow)'),
    panel('Heat', 'avg(temp)', unit='celsius'),
  ],

  'alert-rules': {
    high:: error 'not set',
  },
}
