#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// `npm create upshot <folder>` is `upshot init <folder>` of the package that this one brings.
const manifest = createRequire(import.meta.url).resolve('upshot/package.json')
const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
process.argv.splice(2, 0, 'init')
await import(new URL(bin.upshot, pathToFileURL(manifest)).href)
