// Loaded by each Node of a program that is recorded without a fence: connections to the platforms go
// to the stand-ins, those that are allowed go through, all others are refused and written down.
"use strict";
const fs = require("node:fs");
const net = require("node:net");
const dns = require("node:dns");
const children = require("node:child_process");

const port = Number(process.env.COMMANDSYNC_RECORD_PORT || 0);
const allowed = (process.env.COMMANDSYNC_RECORD_ALLOWED || "").split(" ").filter(Boolean);
const platform = (process.env.COMMANDSYNC_RECORD_PLATFORM || "").split(" ").filter(Boolean);
const ours = Object.entries(process.env).filter(
  ([name]) => name.startsWith("COMMANDSYNC_RECORD_") || name === "NODE_OPTIONS" || name === "NODE_EXTRA_CA_CERTS",
);
const local = new Set(["localhost", "127.0.0.1", "::1"]);

const isPlatform = (host) =>
  platform.some((name) => host === name || (name.startsWith(".") && host.endsWith(name)));
const refuse = (host) => {
  fs.appendFileSync(process.env.COMMANDSYNC_RECORD_REFUSED, `${host}\n`);
  return Object.assign(new Error(`connect ECONNREFUSED ${host} (recording)`), { code: "ECONNREFUSED" });
};

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  // Node passes its arguments on as one array that is normalized already.
  const first = Array.isArray(given[0]) ? given[0][0] : given[0];
  const options = typeof first === "object" && first !== null ? first : { port: given[0], host: given[1] };
  if (options.path && !options.port) return connect.apply(this, given);
  const host = String(options.host || "localhost").toLowerCase();
  if (isPlatform(host)) {
    Object.assign(options, { host: "127.0.0.1", port, lookup: undefined });
    if (options !== first) return connect.call(this, options, ...given.slice(2));
    return connect.apply(this, given);
  }
  const known = (local.has(host) && Number(options.port) === port) || allowed.includes(`${host}:${options.port}`);
  if (known) return connect.apply(this, given);
  process.nextTick(() => this.destroy(refuse(`${host}:${options.port}`)));
  return this;
};

const lookup = dns.lookup;
dns.lookup = function (host, options, callback) {
  if (isPlatform(String(host).toLowerCase())) return lookup.call(this, "127.0.0.1", options, callback);
  return lookup.apply(this, arguments);
};

// Children get the redirects, too, even where the program gives them an environment of its own.
for (const name of ["spawn", "spawnSync", "execFile", "execFileSync", "exec", "execSync", "fork"]) {
  const original = children[name];
  children[name] = function (...given) {
    for (const value of given)
      if (value && typeof value === "object" && !Array.isArray(value) && value.env)
        value.env = { ...value.env, ...Object.fromEntries(ours) };
    return original.apply(this, given);
  };
}
