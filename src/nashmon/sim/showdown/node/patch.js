'use strict';
module.exports = {apply() {}};
