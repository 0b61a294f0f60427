// address.js - what is shown, in the part of the address after #: view&key=value&...

export const readAddress = () => {
  const [view, ...pairs] = location.hash.slice(1).split("&");
  const values = {};
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) continue;
    try {
      values[pair.slice(0, equals)] = decodeURIComponent(pair.slice(equals + 1));
    } catch {
      // a broken escape: the value is left out
    }
  }
  return { view, values };
};

// replaces the address without a step in the history
export const writeAddress = (view, values) => {
  const pairs = Object.entries(values).filter(([, value]) => value != null && value !== "");
  history.replaceState(null, "", `#${[view, ...pairs.map(([k, v]) => `${k}=${encodeURIComponent(v)}`)].join("&")}`);
};
