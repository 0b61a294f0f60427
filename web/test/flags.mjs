// flags.mjs - how Chromium is started: WebGL by the processor. Debian's chromium also draws pages by WebGL, which costs a processor more.
export const FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-gpu-rasterization", "--disable-gpu-compositing"];
