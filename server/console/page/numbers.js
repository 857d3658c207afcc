// Forms of numbers, and values computed from the server's counters.

export const short = n => n === null || !isFinite(n) ? "–" : n >= 1e9 ? (n / 1e9).toFixed(2) + " G"
  : n >= 1e6 ? (n / 1e6).toFixed(2) + " M" : n >= 1e4 ? (n / 1e3).toFixed(1) + " k"
  : n >= 100 || Number.isInteger(n) ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2);

export const bytes = n => n === null || !isFinite(n) ? "–" : Math.abs(n) >= 2 ** 40 ? (n / 2 ** 40).toFixed(2) + " TiB"
  : Math.abs(n) >= 2 ** 30 ? (n / 2 ** 30).toFixed(2) + " GiB" : Math.abs(n) >= 2 ** 20 ? (n / 2 ** 20).toFixed(1) + " MiB"
  : Math.abs(n) >= 1024 ? (n / 1024).toFixed(0) + " KiB" : n.toFixed(0) + " B";

export const micros = us => us === null || !isFinite(us) ? "–" : us >= 1e6 ? (us / 1e6).toFixed(2) + " s"
  : us >= 1e4 ? (us / 1e3).toFixed(0) + " ms" : us >= 1e3 ? (us / 1e3).toFixed(1) + " ms"
  : us >= 10 ? us.toFixed(0) + " µs" : us.toFixed(1) + " µs";

export const percent = share => !isFinite(share) ? "–"
  : (100 * share).toFixed(share === 0 || share === 1 || (share > 0.0995 && share < 0.985) ? 0 : 1) + " %";

export function duration(seconds) {
  if (seconds === null || !isFinite(seconds)) return "–";
  if (seconds < 0.0995) return (seconds * 1000).toFixed(0) + " ms";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

// A text or null of a result.
export const number = text => text === null || text === undefined ? null : Number(text);

export const subtract = (now, before) => now.map((n, i) => Math.max(0, n - (before ? before[i] : 0)));

export const sum = list => list.reduce((a, b) => a + b, 0);

// The duration, in microseconds, that a share of what is counted in `steps` did not exceed.
export function percentile(steps, bounds, share) {
  const wanted = sum(steps) * share;
  if (wanted === 0) return null;
  let below = 0;
  for (let i = 0; i < steps.length; ++i) {
    if (below + steps[i] >= wanted) {
      const low = i === 0 ? 0 : bounds[i - 1];
      const high = i < bounds.length ? bounds[i] : 2 * bounds[bounds.length - 1];
      return low + (high - low) * (wanted - below) / steps[i];
    }
    below += steps[i];
  }
  return bounds[bounds.length - 1];
}

// The rows of a result as objects; none where the part could not be read.
export function rows(part) {
  if (!part || !part.rows) return [];
  return part.rows.map(row => Object.fromEntries(part.columns.map((name, i) => [name, row[i]])));
}

// Differences between two readings: rates, percentiles, shares.
export function sample(now, before) {
  const seconds = Math.max((now.now_us - before.now_us) / 1e6, 1e-3);
  const change = name => Math.max(0, now[name] - before[name]);
  const rate = name => change(name) / seconds;
  const kinds = Object.keys(now.latency);
  const byKind = Object.fromEntries(kinds.map(kind => [kind, subtract(now.latency[kind], before.latency[kind])]));
  const all = kinds.map(kind => byKind[kind]).reduce((a, b) => a.map((n, i) => n + b[i]));
  const percentiles = steps => [0.5, 0.95, 0.99].map(share => percentile(steps, now.bounds_us, share));
  const sync = subtract(now.log_sync_steps, before.log_sync_steps);
  const misses = Math.max(0, change("pages_read") - change("pages_read_ahead"));
  return {
    at: now.now_us / 1000, statements: rate("statements"), commits: rate("commits"), rollbacks: rate("rollbacks"),
    latency: { all: percentiles(all), ...Object.fromEntries(kinds.map(kind => [kind, percentiles(byKind[kind])])) },
    active: now.active, idleInTransaction: now.idle_in_transaction, lockWaits: rate("lock_waits"), errors: rate("errors"),
    deadlocks: change("deadlocks"), logBytes: rate("log_bytes"), flushes: rate("log_flushes"),
    group: change("log_flushes") ? change("log_waiters") / change("log_flushes") : null,
    sync50: percentile(sync, now.bounds_us, 0.5), sync99: percentile(sync, now.bounds_us, 0.99),
    pagesRead: rate("pages_read"), pagesWritten: rate("pages_written"), evictions: rate("evictions"),
    hits: change("leaf_requests") ? 1 - Math.min(1, misses / change("leaf_requests")) : null,
  };
}
