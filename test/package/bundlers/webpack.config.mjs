/** A program for browsers; its modules, rather than script elements, load each other, so that Node can run it too. */
export default {
  ...{ mode: 'production', target: ['web', 'es2022'], entry: './main.js', performance: false },
  experiments: { outputModule: true },
  output: {
    path: `${process.cwd()}/built/webpack`,
    filename: '[name].mjs',
    chunkFormat: 'module',
    chunkLoading: 'import',
    publicPath: './',
  },
}
