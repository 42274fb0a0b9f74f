/**
 * Loaded by `NODE_OPTIONS` before a program that is started to be ended soon: V8 compiles of WebAssembly what is called,
 * once, instead of checking all of it first and compiling it a second time for speed, which is a third of what a start
 * with the embedded database takes.
 */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--no-wasm-tier-up')
setFlagsFromString('--no-wasm-dynamic-tiering')
setFlagsFromString('--wasm-lazy-validation')
