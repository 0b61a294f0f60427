// script and library are compressed; both come out of the page itself
globalThis.unpack = (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
unpack("program").text().then((text) => {
  const script = document.createElement("script");
  script.textContent = text;
  document.body.append(script);
}).catch((error) => {
  const message = document.getElementById("message") ?? document.querySelector("main");
  message.hidden = false;
  message.prepend(`The page cannot start: ${error.message}`);
});
