// What a bot does with the published clients: every operation, and every event until a restart.
//
//     node published.cjs CLIENT HOST TOKEN
//
// Prints a line of JSON for each result. The clients are used as they are; the address of the
// service is set where each has it.
"use strict";

const [client, host, token] = process.argv.slice(2);
const tell = (what, value) => console.log(JSON.stringify([what, value]));
const clients = { "vcodes.js": wrapper, "socket.io-client": io, "socket.io-client-2": io };

async function operations(bot) {
  tell("addCommand", await bot.addCommand({ name: "help", description: "Helps.", syntax: "/help" }));
  tell("addCommand", await bot.addCommand({ name: "old", description: "Is old.", syntax: "/old", category: "Fun" }));
  const [help, old] = await bot.getCommands();
  tell("editCommand", await bot.editCommand({ ...old, name: "new", category: "Games" }));
  tell("setUses", await bot.setUses({ id: help.id, uses: 12 }));
  tell("getCommands", (await bot.getCommands()).map(({ name, category, uses }) => ({ name, category, uses })));
  tell("deleteCommand", await bot.deleteCommand(help.id));
  tell("deleteCommand", await bot.deleteCommand(help.id).catch(refusal => refusal));
  tell("getCommands", (await bot.getCommands()).map(({ name }) => name));
  tell("addAnnouncement", await bot.addAnnouncement({ title: "v2", description: "It is out." }));
  const [notice] = await bot.getAnnouncements();
  tell("getAnnouncements", notice.title);
  tell("deleteAnnouncement", await bot.deleteAnnouncement(notice.id));
  tell("getAnnouncements", await bot.getAnnouncements());
  tell("checkVote", await bot.checkVote("7"));
  tell("getVoters", await bot.getVoters());
}

function wrapper() {
  const config = require("vcodes.js/src/config.json");
  Object.assign(config, { base: host, hostname: `${host}/v1/gateway` });
  config.protocol = { web: "http", websockets: "ws" };
  const { Client } = require("vcodes.js");
  const bot = new Client(token);
  bot.on("error", error => tell("error", String(error)));
  bot.on("ready", async data => {
    tell("ready", data);
    await operations(bot);
    tell("waiting", null);
  });
  bot.on("vote", async ({ user }) => {
    tell("vote", user);
    tell("checkVote", await bot.checkVote(user.id));
    tell("getVoters", (await bot.getVoters({ page: 1, limit: 5 })).map(({ id }) => id));
  });
  bot.on("reminder", ({ user }) => tell("reminder", user));
  bot.on("reconnecting", ({ code, reason }) => tell("reconnecting", [code, String(reason)]));
  bot.on("reconnected", () => {
    tell("reconnected", null);
    process.exit(0);
  });
}

function io() {
  const socket = require(client)(`ws://${host}`, {
    path: "/v1/gateway/",
    query: { token },
    transports: ["websocket"],
    reconnectionDelay: 100,
  });
  let lost = false;
  socket.on("connect_error", error => lost || tell("error", String(error)));
  socket.on("disconnect", reason => {
    lost = true;
    tell("disconnect", reason);
  });
  socket.on("connect", () => {
    tell("connect", null);
    if (lost) process.exit(0);
  });
  socket.on("message", text => {
    const { event, data } = JSON.parse(text);
    tell(event, data.user ?? data);
    if (event === "ready") tell("waiting", null);
  });
}

clients[client]();
