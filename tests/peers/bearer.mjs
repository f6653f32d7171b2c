// The suite for servers has no way to show a token: this adds it to each of its requests.
import { subscribe } from "node:diagnostics_channel";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";

const authorization = `Bearer ${process.env.SERVED_TOKEN}`;
subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", authorization));

const send = http.request;
http.request = (options, ...rest) =>
  send({ ...options, headers: { authorization, ...options.headers } }, ...rest);
syncBuiltinESMExports();
