// Hooks for the loader of modules: only a few files are open at a time, where the system allows few.
const MOST = 8;
let open = 0;
const waiting = [];

export async function load(url, context, next) {
  if (open >= MOST) await new Promise((resolve) => waiting.push(resolve));
  else open++;
  try {
    return await next(url, context);
  } finally {
    const resume = waiting.shift();
    if (resume === undefined) open--;
    else resume();
  }
}
