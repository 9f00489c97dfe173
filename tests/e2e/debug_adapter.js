// The cases of `debug --dap` by Microsoft's own test client; debug_adapter.rs starts this in a directory with the kernels.
// Arguments: the package's directory, a script that starts the adapter.

const assert = require("assert");
const path = require("path");
const { DebugClient } = require(process.argv[2]);

const here = process.cwd();
const kernel = path.join(here, "doubled.cpp");
const doubled = { library: kernel, inputs: ["arange:8:int32"], like: 0, cwd: here };
const shares = { library: path.join(here, "shares.cpp"), inputs: ["zeros:8:int32"], like: 0, multicore: true, cwd: here };
const outside = { library: path.join(here, "outside.cpp"), inputs: ["ones:8:int32"], like: 0, cwd: here };
const endless = { library: path.join(here, "endless.cpp"), inputs: ["ones:8:int32"], like: 0, cwd: here };

const cases = [];
const test = (name, body) => cases.push([name, body]);
const stopped = (dc) => dc.waitForEvent("stopped", 60000).then((event) => event.body);
const stack = async (dc, threadId = 1) => (await dc.stackTraceRequest({ threadId })).body.stackFrames;
const top = async (dc) => (await stack(dc))[0];
const value = async (dc, expression) =>
  (await dc.evaluateRequest({ expression, frameId: (await top(dc)).id, context: "watch" })).body.result;
const refused = async (promise, pattern) => {
  const error = await promise.then(() => null, (error) => error);
  assert(error && pattern.test(error.message), `refused with ${error && error.message}`);
};
// launched, with breakpoints, at the first stop
const at = async (dc, launch, breakpoints = [{ line: 14 }], more = async () => {}) => {
  const ready = dc.waitForEvent("initialized", 120000);
  await dc.initializeRequest();
  await dc.launchRequest(launch);
  await ready;
  const set = await dc.setBreakpointsRequest({ source: { path: launch.library }, breakpoints });
  const others = await more(dc);
  const stop = stopped(dc);
  await dc.configurationDoneRequest();
  return [await stop, set.body.breakpoints, others];
};
const move = async (dc, request, args = {}) => {
  const stop = stopped(dc);
  await dc[request + "Request"]({ threadId: 1, ...args });
  return await stop;
};
const scope = async (dc, name) => {
  const scopes = (await dc.scopesRequest({ frameId: (await top(dc)).id })).body.scopes;
  const { variablesReference } = scopes.find((scope) => scope.name === name);
  return [variablesReference, (await dc.variablesRequest({ variablesReference })).body.variables];
};

test("initialize says what is there", async (dc) => {
  const { body } = await dc.initializeRequest();
  for (const can of ["StepBack", "DataBreakpoints", "LogPoints", "FunctionBreakpoints", "InstructionBreakpoints"]) {
    assert(body["supports" + can], can);
  }
});
test("launch without a library is refused", async (dc) => {
  await dc.initializeRequest();
  await refused(dc.launchRequest({ inputs: [] }), /library/);
});
test("launch of a file that is not there is refused", async (dc) => {
  await dc.initializeRequest();
  await refused(dc.launchRequest({ ...doubled, library: "build/none" }), /none/);
});
test("launch with a wrong count of inputs is refused", async (dc) => {
  await dc.initializeRequest();
  await refused(dc.launchRequest({ ...doubled, inputs: [] }), /input/);
});
test("a request before launch is refused", async (dc) => {
  await dc.initializeRequest();
  await refused(dc.threadsRequest(), /launched/);
});
test("the client's own hitBreakpoint", (dc) => dc.hitBreakpoint(doubled, { path: kernel, line: 14 }));
test("a run to the end", async (dc) => {
  await Promise.all([dc.configurationSequence(), dc.launch(doubled), dc.waitForEvent("terminated", 120000)]);
});
test("stop on entry", async (dc) => {
  const [stop] = await at(dc, { ...doubled, stopOnEntry: true }, []);
  assert.equal(stop.reason, "entry");
  assert.equal((await top(dc)).name, "doubled");
});
test("a line without code moves to the next", async (dc) => {
  const [, set] = await at(dc, doubled, [{ line: 2 }, { line: 7 }]);
  assert.deepEqual(set.map((one) => one.line), [3, 8]);
});
test("a line behind the end is not verified", async (dc) => {
  const [, set] = await at(dc, doubled, [{ line: 14 }, { line: 900 }]);
  assert.deepEqual(set.map((one) => one.verified), [true, false]);
});
test("a condition", async (dc) => {
  await at(dc, doubled, [{ line: 14, condition: "i == 5" }]);
  assert.equal(await value(dc, "i"), "5");
});
test("a hit count", async (dc) => {
  await at(dc, doubled, [{ line: 14, hitCondition: "3" }]);
  assert.equal(await value(dc, "i"), "2");
});
test("every other hit", async (dc) => {
  await at(dc, doubled, [{ line: 14, hitCondition: "% 2" }]);
  await move(dc, "continue");
  assert.equal(await value(dc, "i"), "3");
});
test("a hit count that is none is not verified", async (dc) => {
  const [, set] = await at(dc, doubled, [{ line: 14 }, { line: 16, hitCondition: "often" }]);
  assert.equal(set[1].verified, false);
});
test("a condition that does not read stops and says so", async (dc) => {
  const output = dc.waitForEvent("output", 120000);
  await at(dc, doubled, [{ line: 14, condition: "nobody > 1" }]);
  assert(/nobody/.test((await output).body.output));
});
test("a log point", async (dc) => {
  const output = dc.waitForEvent("output", 120000);
  await at(dc, doubled, [{ line: 14, logMessage: "i is {i}", hitCondition: "1" }, { line: 16 }]);
  assert.equal((await output).body.output, "P0: i is 0\n");
});
test("a function", async (dc) => {
  const more = (dc) => dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: "twice" }] });
  const [stop] = await at(dc, doubled, [], more);
  assert.equal(stop.reason, "function");
  assert.equal((await top(dc)).name, "twice");
});
test("a function that is not there", async (dc) => {
  const more = (dc) => dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: "thrice" }] });
  const [, , set] = await at(dc, doubled, [{ line: 14 }], more);
  assert.equal(set.body.breakpoints[0].verified, false);
});
test("an instruction", async (dc) => {
  await at(dc, doubled);
  const reference = (await top(dc)).instructionPointerReference;
  await dc.setBreakpointsRequest({ source: { path: kernel }, breakpoints: [] });
  await dc.customRequest("setInstructionBreakpoints", { breakpoints: [{ instructionReference: reference }] });
  assert.equal((await move(dc, "continue")).reason, "instruction");
  assert.equal(await value(dc, "i"), "1");
});
test("breakpoints are replaced", async (dc) => {
  await at(dc, doubled);
  await dc.setBreakpointsRequest({ source: { path: kernel }, breakpoints: [{ line: 16 }] });
  await move(dc, "continue");
  assert.equal((await top(dc)).line, 16);
});
test("the lines that have code", async (dc) => {
  await at(dc, doubled);
  const asked = { source: { path: kernel }, line: 12, endLine: 16 };
  const { body } = await dc.customRequest("breakpointLocations", asked);
  assert.deepEqual(body.breakpoints.map((one) => one.line), [12, 13, 14, 16]);
});
test("threads are cores", async (dc) => {
  await at(dc, shares, [{ line: 4 }]);
  assert.equal((await dc.threadsRequest()).body.threads.length, 8);
});
test("a condition on the core", async (dc) => {
  const [stop] = await at(dc, shares, [{ line: 5, condition: "core == 6" }]);
  assert.equal(stop.threadId, 7);
  assert.equal((await stack(dc, 7))[0].line, 5);
});
test("a core's stack while another one stopped", async (dc) => {
  await at(dc, shares, [{ line: 5, condition: "core == 1" }]);
  assert((await stack(dc, 8)).length > 0);
});
test("a thread that is not there", async (dc) => {
  await at(dc, doubled);
  await refused(dc.stackTraceRequest({ threadId: 9 }), /core 8/);
});
test("a part of the stack", async (dc) => {
  await at(dc, doubled);
  const { body } = await dc.stackTraceRequest({ threadId: 1, startFrame: 1, levels: 1 });
  assert.equal(body.stackFrames.length, 1);
  assert(body.totalFrames > 2);
});
test("next", async (dc) => {
  await at(dc, doubled);
  await move(dc, "next");
  assert.equal((await top(dc)).line, 13);
});
test("step in, and out", async (dc) => {
  await at(dc, doubled);
  await move(dc, "stepIn");
  assert.equal((await top(dc)).name, "twice");
  await move(dc, "stepOut");
  assert.equal((await top(dc)).name, "doubled");
});
test("by instruction", async (dc) => {
  await at(dc, doubled);
  const before = (await top(dc)).instructionPointerReference;
  await move(dc, "next", { granularity: "instruction" });
  assert.notEqual((await top(dc)).instructionPointerReference, before);
  await move(dc, "stepBack", { granularity: "instruction" });
  assert.equal((await top(dc)).instructionPointerReference, before);
});
test("step back", async (dc) => {
  await at(dc, doubled, [{ line: 14, condition: "i == 3" }]);
  await move(dc, "stepBack");
  assert.equal((await top(dc)).line, 13);
});
test("reverse continue", async (dc) => {
  await at(dc, doubled, [{ line: 16 }]);
  await dc.setBreakpointsRequest({ source: { path: kernel }, breakpoints: [{ line: 14 }] });
  assert.equal((await move(dc, "reverseContinue")).reason, "breakpoint");
  assert.equal(await value(dc, "i"), "7");
});
test("reverse continue to the begin", async (dc) => {
  await at(dc, doubled, [{ line: 16 }]);
  assert.equal((await move(dc, "reverseContinue")).reason, "entry");
});
const watch = async (dc, name, accessType) => {
  const info = await dc.dataBreakpointInfoRequest({ name, frameId: (await top(dc)).id });
  return await dc.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.body.dataId, accessType }] });
};
test("a tensor's element, forward", async (dc) => {
  await at(dc, doubled, [{ line: 12 }]);
  await watch(dc, "out[7]", "write");
  const stop = await move(dc, "continue");
  assert.equal(stop.reason, "data");
  assert.equal(stop.text, "nothing -> 14");
});
test("a tensor's element, backward", async (dc) => {
  await at(dc, doubled, [{ line: 16 }]);
  await watch(dc, "out[3]", "write");
  assert.equal((await move(dc, "reverseContinue")).text, "nothing -> 6");
});
test("a read of an input", async (dc) => {
  await at(dc, doubled, [{ line: 12 }]);
  await watch(dc, "x[4]", "read");
  assert.equal((await move(dc, "continue")).reason, "data");
});
test("a variable", async (dc) => {
  await at(dc, doubled, [{ line: 14 }]);
  const [variablesReference] = await scope(dc, "Locals");
  const info = await dc.dataBreakpointInfoRequest({ name: "i", variablesReference });
  await dc.setBreakpointsRequest({ source: { path: kernel }, breakpoints: [] });
  await dc.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.body.dataId, accessType: "write" }] });
  assert.equal((await move(dc, "continue")).reason, "data");
});
test("what has no place cannot be watched", async (dc) => {
  await at(dc, doubled);
  const info = await dc.dataBreakpointInfoRequest({ name: "nobody", frameId: (await top(dc)).id });
  assert(!info.body.dataId);
});
test("arguments and locals", async (dc) => {
  await at(dc, doubled);
  const [, parts] = await scope(dc, "Arguments");
  const [, locals] = await scope(dc, "Locals");
  assert.equal(parts[0].name, "x");
  assert(locals.some((one) => one.name === "n" && one.value === "8"));
});
test("a tensor unfolds", async (dc) => {
  await at(dc, doubled);
  const [, parts] = await scope(dc, "Arguments");
  const { variablesReference } = parts[0];
  const { variables } = (await dc.variablesRequest({ variablesReference, start: 3, count: 1 })).body;
  assert(variables.length >= 1);
});
test("the call's tensors", async (dc) => {
  await at(dc, doubled, [{ line: 16 }]);
  const [, tensors] = await scope(dc, "Tensors");
  const { variables } = (await dc.variablesRequest({ variablesReference: tensors[0].variablesReference })).body;
  assert.deepEqual(variables.map((one) => one.value), ["0", "2", "4", "6", "8", "10", "12", "14"]);
});
test("registers and device", async (dc) => {
  await at(dc, doubled);
  assert.equal((await scope(dc, "Registers"))[1].length, 17);
  assert(Array.isArray((await scope(dc, "Device"))[1]));
});
test("a variable is set", async (dc) => {
  await at(dc, doubled);
  await move(dc, "stepIn");
  const [variablesReference] = await scope(dc, "Arguments");
  await dc.setVariableRequest({ variablesReference, name: "value", value: "21" });
  assert.equal(await value(dc, "value * 2"), "42");
});
test("an element is set", async (dc) => {
  await at(dc, doubled, [{ line: 14, condition: "i == 1" }]);
  const [, tensors] = await scope(dc, "Tensors");
  const { variablesReference } = tensors[0];
  await dc.setVariableRequest({ variablesReference, name: "[0]", value: "-5" });
  assert.equal(await value(dc, "to[0]"), "-5");
});
test("expressions", async (dc) => {
  await at(dc, doubled, [{ line: 14, condition: "i == 4" }]);
  assert.equal(await value(dc, "from[i] * 10 + n"), "48");
  await refused(value(dc, "nobody"), /nobody/);
});
test("a command of the terminal", async (dc) => {
  await at(dc, doubled, [{ line: 16 }]);
  const asked = { expression: "why out[2]", frameId: (await top(dc)).id, context: "repl" };
  assert(/nothing -> 4/.test((await dc.evaluateRequest(asked)).body.result));
});
test("completions", async (dc) => {
  await at(dc, doubled);
  const { body } = await dc.completionsRequest({ text: "fr", column: 3, frameId: (await top(dc)).id });
  assert.deepEqual(body.targets.map((one) => one.label), ["from"]);
});
test("memory is read and written", async (dc) => {
  await at(dc, doubled);
  const [, tensors] = await scope(dc, "Tensors");
  const { memoryReference } = tensors.find((one) => one.name === "x");
  const read = () => dc.customRequest("readMemory", { memoryReference, offset: 4, count: 4 });
  assert.equal((await read()).body.data, "AQAAAA==");
  await dc.customRequest("writeMemory", { memoryReference, offset: 4, data: "CQAAAA==" });
  assert.equal((await read()).body.data, "CQAAAA==");
});
test("disassembly around the pc", async (dc) => {
  await at(dc, doubled);
  const memoryReference = (await top(dc)).instructionPointerReference;
  const asked = { memoryReference, instructionOffset: -3, instructionCount: 8 };
  const { instructions } = (await dc.disassembleRequest(asked)).body;
  assert.equal(instructions.length, 8);
  assert.equal(instructions[3].address, memoryReference);
});
test("modules and sources", async (dc) => {
  await at(dc, doubled);
  assert.equal((await dc.modulesRequest({})).body.modules[0].name, "doubled");
  const { sources } = (await dc.customRequest("loadedSources")).body;
  assert(sources.some((one) => one.path === kernel));
  const sdk = sources.find((one) => /TensorAccessor.h$/.test(one.path));
  const { body } = await dc.sourceRequest({ source: sdk, sourceReference: 0 });
  assert(/TensorAccessor/.test(body.content));
});
test("a finding is stopped at", async (dc) => {
  const [stop] = await at(dc, outside, []);
  assert.equal(stop.reason, "exception");
  const { body } = await dc.exceptionInfoRequest({ threadId: 1 });
  assert(/^run::/.test(body.exceptionId), body.exceptionId);
});
test("findings are not stopped at unless wanted", async (dc) => {
  await dc.initializeRequest();
  const end = dc.waitForEvent("terminated", 120000);
  const ready = dc.waitForEvent("initialized", 120000);
  await dc.launchRequest({ ...outside, stopOnFinding: false });
  await ready;
  await dc.configurationDoneRequest();
  await end;
});
test("pause, and on", async (dc) => {
  await dc.initializeRequest();
  const ready = dc.waitForEvent("initialized", 120000);
  await dc.launchRequest(endless);
  await ready;
  await dc.configurationDoneRequest();
  await new Promise((done) => setTimeout(done, 200));
  assert.equal((await move(dc, "pause")).reason, "pause");
  assert((await stack(dc)).some((frame) => frame.name === "endless"));
  await dc.continueRequest({ threadId: 1 });
});
test("a breakpoint while the cores are at work", async (dc) => {
  await dc.initializeRequest();
  const ready = dc.waitForEvent("initialized", 120000);
  await dc.launchRequest(endless);
  await ready;
  await dc.configurationDoneRequest();
  await new Promise((done) => setTimeout(done, 200));
  const stop = stopped(dc);
  await dc.setBreakpointsRequest({ source: { path: endless.library }, breakpoints: [{ line: 6 }] });
  assert.equal((await stop).reason, "breakpoint");
});
test("restart", async (dc) => {
  await at(dc, doubled, [{ line: 14 }]);
  await move(dc, "continue");
  const stop = stopped(dc);
  await dc.customRequest("restart", {});
  await stop;
  assert.equal(await value(dc, "i"), "0");
});
test("terminate", async (dc) => {
  await at(dc, doubled);
  const end = dc.waitForEvent("terminated");
  await dc.terminateRequest({});
  await end;
});
test("a request that is not known", async (dc) => {
  await at(dc, doubled);
  await refused(dc.customRequest("gotoTargets", {}), /not answered/);
});
test("arguments that do not read", async (dc) => {
  await at(dc, doubled);
  await refused(dc.customRequest("setBreakpoints", { source: 3 }), /do not read/);
});

(async () => {
  let failed = 0;
  for (const [name, body] of cases) {
    const dc = new DebugClient("sh", process.argv[3], "gpsimd");
    try {
      await dc.start();
      let timer;
      const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error("no answer in time")), 180000)));
      await Promise.race([body(dc), late]).finally(() => clearTimeout(timer));
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error.stack || error.message}`);
    }
    await Promise.race([dc.stop().catch(() => {}), new Promise((done) => setTimeout(done, 2000))]);
  }
  console.log(`${cases.length - failed} of ${cases.length} cases pass`);
  process.exit(failed ? 1 : 0);
})();
