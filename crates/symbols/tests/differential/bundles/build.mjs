// Builds `src` with three bundlers in several ways, and asks Mozilla's source-map about every place of every bundle.
// Writes out/<name>/{bundle.js,bundle.js.map,answers.json}; prints the names.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { SourceMapConsumer } from 'source-map';
import { build as vite } from 'vite';
import webpack from 'webpack';

const entry = './src/main.js';
rmSync('out', { recursive: true, force: true });

const builds = {
  'esbuild-minified': (outfile) =>
    esbuild.build({ entryPoints: [entry], bundle: true, minify: true, sourcemap: true, outfile }),
  'esbuild-old-target': (outfile) =>
    esbuild.build({ entryPoints: [entry], bundle: true, target: 'es2015', charset: 'utf8', sourcemap: true, outfile }),
  'webpack-production': (outfile) => packed(outfile, { mode: 'production', devtool: 'source-map' }),
  'webpack-development': (outfile) => packed(outfile, { mode: 'development', devtool: 'source-map' }),
  'webpack-cheap': (outfile) => packed(outfile, { mode: 'development', devtool: 'cheap-module-source-map' }),
  'webpack-no-sources': (outfile) => packed(outfile, { mode: 'production', devtool: 'nosources-source-map' }),
  'vite-production': (outfile) => rolled(outfile, true),
  'vite-readable': (outfile) => rolled(outfile, false),
};

async function packed(outfile, options) {
  const [path, filename] = split(outfile);
  const stats = await promisify(webpack)({ entry, output: { path, filename }, ...options });
  if (stats.hasErrors()) throw new Error(stats.toString());
}

async function rolled(outfile, minify) {
  const [outDir, name] = split(outfile);
  const output = { entryFileNames: name, format: 'es' };
  const build = { outDir, emptyOutDir: false, minify, sourcemap: true, rollupOptions: { input: entry, output } };
  await vite({ configFile: false, logLevel: 'error', publicDir: false, build });
}

const split = (path) => [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];

// Segments at one place are ordered in different ways by different libraries: any of them is right.
async function answers(map) {
  return SourceMapConsumer.with(map, null, (consumer) => {
    const raw = new Map(consumer.sources.map((source, i) => [source, map.sources[i]]));
    const answer = ({ source, line, originalLine, column, originalColumn, name }) =>
      source == null ? null : [[source, raw.get(source)], originalLine ?? line, originalColumn ?? column, name ?? null];
    const places = new Map();
    consumer.eachMapping((mapping) => {
      const key = `${mapping.generatedLine}:${mapping.generatedColumn}`;
      if (!places.has(key)) places.set(key, { line: mapping.generatedLine, column: mapping.generatedColumn, all: [] });
      places.get(key).all.push(answer(mapping));
    });
    const asked = [];
    for (const { line, column, all } of places.values()) {
      asked.push([line, column, [...all, answer(consumer.originalPositionFor({ line, column }))]]);
      if (places.has(`${line}:${column + 1}`)) continue;
      asked.push([line, column + 1, [...all, answer(consumer.originalPositionFor({ line, column: column + 1 }))]]);
    }
    const last = Math.max(...[...places.values()].map(({ line }) => line));
    asked.push([last + 1, 0, [answer(consumer.originalPositionFor({ line: last + 1, column: 0 }))]]);
    return asked;
  });
}

for (const [name, build] of Object.entries(builds)) {
  const folder = `${process.cwd()}/out/${name}`;
  mkdirSync(folder, { recursive: true });
  await build(`${folder}/bundle.js`);
  const map = JSON.parse(readFileSync(`${folder}/bundle.js.map`, 'utf8'));
  writeFileSync(`${folder}/answers.json.new`, JSON.stringify(await answers(map)));
  renameSync(`${folder}/answers.json.new`, `${folder}/answers.json`);
  console.log(name);
}
