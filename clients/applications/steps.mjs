// What every program here says: a line for each step that worked, and the reason for the first that did not.
export async function step(name, body) {
  try {
    await body();
  } catch (error) {
    console.error(error);
    console.log(`FAIL ${name}: ${String(error.message ?? error).split("\n")[0]}`);
    process.exit(1);
  }
  console.log(`ok ${name}`);
}

export async function until(condition, seconds = 15) {
  for (let i = 0; i < seconds * 50; ++i) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within ${seconds} s`);
}
